export { type ProxyEnd, type ProxyOptions, runProxy } from './proxy.js';
