import { textLimits } from './limits.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { Diff } from './Diff.tsx';
import { highlightShell } from './highlight-shell.ts';
import { LongText } from './LongText.tsx';

/** The input of a tool call in a readable form: a command, a diff, a URL, otherwise JSON. No field is omitted. */
export function ToolInput({ input }: { input: unknown }) {
  const fields = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined);
  const [command, path, url] = [text('command'), text('file_path') ?? text('path'), text('url')];
  const [before, after, content] = [text('old_string'), text('new_string'), text('content')];
  if (command !== undefined) return <Command text={command} rest={without(fields, 'command')} />;
  if (path !== undefined && before !== undefined && after !== undefined) {
    return (
      <div className="tool-input">
        <Path path={path} />
        <Diff before={before} after={after} />
        <Rest fields={without(fields, 'file_path', 'path', 'old_string', 'new_string')} />
      </div>
    );
  }
  if (path !== undefined && content !== undefined) {
    return (
      <div className="tool-input">
        <Path path={path} />
        <LongText text={content} className="added" />
        <Rest fields={without(fields, 'file_path', 'path', 'content')} />
      </div>
    );
  }
  if (url !== undefined) {
    return (
      <div className="tool-input">
        <p className="url">{cleanLine(url)}</p>
        <Rest fields={without(fields, 'url')} />
      </div>
    );
  }
  if (typeof input === 'string') return <LongText text={input} />;
  return <LongText text={JSON.stringify(input, null, 2) ?? ''} />;
}

function Command({ text, rest }: { text: string; rest: object }) {
  if (text.length > textLimits.shownCharsMax) return <LongText text={text} className="command" />;
  return (
    <div className="tool-input">
      <pre className="plain command">
        {highlightShell(text).map(({ kind, text: part }, index) => (
          <span key={index} data-shell={kind}>
            {cleanText(part)}
          </span>
        ))}
      </pre>
      <Rest fields={rest} />
    </div>
  );
}

function Path({ path }: { path: string }) {
  return <p className="path">{cleanLine(path)}</p>;
}

function Rest({ fields }: { fields: object }) {
  return Object.keys(fields).length === 0 ? null : <LongText text={JSON.stringify(fields, null, 2)} />;
}

function without(fields: Readonly<Record<string, unknown>>, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
