import { createInterface } from 'node:readline';

/** The smallest MCP server with a tool: what the proxy costs is measured before it. */
const echo = { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
const results: Record<string, (params: { arguments?: { text?: string } }) => object> = {
  'tools/list': () => ({ tools: [{ ...echo, annotations: { readOnlyHint: true } }] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: params.arguments?.text ?? '' }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method]!(params) })}\n`);
});
