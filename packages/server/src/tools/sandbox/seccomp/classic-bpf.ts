/**
 * The instructions of classic BPF that a seccomp filter needs. A filter reads one `struct seccomp_data`: the number of the
 * system call, the architecture and six arguments of 64 bits.
 *
 * Jumps only go forward, by a number of instructions, so code is built from blocks that a jump skips.
 */
export interface Instruction {
  readonly code: number;
  /** Instructions to skip if a comparison holds, and if it does not. */
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly value: number;
}

/** The kernel's format: 8 bytes per instruction, little-endian. */
export function assemble(instructions: readonly Instruction[]): Uint8Array {
  if (instructions.length > INSTRUCTIONS_MAX)
    throw new Error(`a filter of ${instructions.length} instructions is too long`);
  const bytes = new DataView(new ArrayBuffer(instructions.length * INSTRUCTION_BYTES));
  for (const [index, { code, whenTrue, whenFalse, value }] of instructions.entries()) {
    const at = index * INSTRUCTION_BYTES;
    if (whenTrue > SKIP_MAX || whenFalse > SKIP_MAX) throw new Error(`instruction ${index} skips too far`);
    bytes.setUint16(at, code, true);
    bytes.setUint8(at + 2, whenTrue);
    bytes.setUint8(at + 3, whenFalse);
    bytes.setUint32(at + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Loads the number of the system call. */
export const loadNumber: Instruction = load(0);
/** Loads the architecture of the system call. */
export const loadArchitecture: Instruction = load(4);

/**
 * The lower half of an argument. Every argument that a filter inspects is an int or has flags below 2^32, and the kernel
 * ignores the upper half: a comparison of both halves would allow `1 << 32 | TIOCSTI`.
 */
export function loadArgument(index: number): Instruction {
  return load(16 + 8 * index);
}

export function maskWith(mask: number): Instruction {
  return { code: 0x54, whenTrue: 0, whenFalse: 0, value: mask };
}

/** Skips `count` instructions unless the loaded value is equal. */
export function skipUnlessEqual(value: number, count: number): Instruction {
  return { code: 0x15, whenTrue: 0, whenFalse: count, value };
}

/** Skips `count` instructions if the loaded value is equal. */
export function skipIfEqual(value: number, count: number): Instruction {
  return { code: 0x15, whenTrue: count, whenFalse: 0, value };
}

/** Skips `count` instructions unless the loaded value is greater. */
export function skipUnlessGreater(value: number, count: number): Instruction {
  return { code: 0x25, whenTrue: 0, whenFalse: count, value };
}

/** Skips unless at least one of the bits is set. */
export function skipUnlessAnyBit(bits: number, count: number): Instruction {
  return { code: 0x45, whenTrue: 0, whenFalse: count, value: bits };
}

export const allow: Instruction = answer(0x7fff_0000);
export const killProcess: Instruction = answer(0x8000_0000);

/** Fails the system call with an error number. */
export function failWith(errno: number): Instruction {
  return answer(0x0005_0000 | errno);
}

function load(offset: number): Instruction {
  return { code: 0x20, whenTrue: 0, whenFalse: 0, value: offset };
}

function answer(value: number): Instruction {
  return { code: 0x06, whenTrue: 0, whenFalse: 0, value };
}

const INSTRUCTION_BYTES = 8;
const INSTRUCTIONS_MAX = 4_096;
const SKIP_MAX = 255;
