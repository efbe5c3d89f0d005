export {
  type HookOptions,
  installClaudeCodeHook,
  type InstallOptions,
  runClaudeCodeHook,
} from './claude-code-hook.js';
export { type ProxyEnd, type ProxyOptions, runProxy } from './proxy.js';
