export {
  type HookOptions,
  installClaudeCodeHook,
  type InstallOptions,
  runClaudeCodeHook,
} from './claude-code-hook.js';
export { type ProxyEnd, type ProxyOptions, runProxy } from './proxy.js';
export type { Access } from './server/access.js';
export { createServer, type ServerOptions } from './server/server.js';
export { serveHttp, serveStdio } from './server/serve.js';
export type { Names } from './server/wording.js';
