export { encodeComment, encodeEvent, type SseFields } from './encode.ts';
export { SseDecoder, type SseDecoderOptions, type SseEvent, type SseItem } from './decode.ts';
export { decodeSse } from './decode-sse.ts';
export { limits as sseLimits } from './limits.ts';
