/** Lines of a small made-up stream, in the wire format. */
export const wire = {
  init: (fields: object = {}) =>
    line({ type: 'system', subtype: 'init', session_id: 's', model: 'm', cwd: '/w', ...fields }),
  text: (text: string, fields: object = {}) => block({ type: 'text', text }, fields),
  thinking: (thinking: string, fields: object = {}) => block({ type: 'thinking', thinking }, fields),
  call: (id: string, name: string, input: object, fields: object = {}) =>
    block({ type: 'tool_use', id, name, input }, fields),
  result: (id: string, content: unknown, fields: object = {}, isError = false) =>
    line({
      type: 'user',
      uuid: uuid(),
      parent_tool_use_id: null,
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
      ...fields,
    }),
  task: (id: string, toolUseId: string, description: string, fields: object = {}) =>
    line({
      type: 'system',
      subtype: 'task_started',
      task_id: id,
      tool_use_id: toolUseId,
      description,
      task_type: 'local_agent',
      subagent_type: 'worker',
      ...fields,
    }),
  taskEnd: (id: string, toolUseId: string, status = 'completed', fields: object = {}) =>
    line({ type: 'system', subtype: 'task_notification', task_id: id, tool_use_id: toolUseId, status, ...fields }),
  ask: (requestId: string, toolUseId: string, toolName: string, input: object, fields: object = {}) =>
    line({
      type: 'control_request',
      request_id: requestId,
      request: { subtype: 'can_use_tool', tool_name: toolName, input, tool_use_id: toolUseId, ...fields },
    }),
  end: (fields: object = {}) =>
    line({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'ok',
      session_id: 's',
      uuid: uuid(),
      ...fields,
    }),
};

let counter = 0;

function uuid(): string {
  counter += 1;
  return `u${counter}`;
}

function block(content: object, fields: object): string {
  counter += 1;
  const message = { id: `msg${counter}`, role: 'assistant', content: [content] };
  return line({ type: 'assistant', uuid: uuid(), parent_tool_use_id: null, message, ...fields });
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
