import { serveCalls } from '../../src/platform/processes/serve-calls.js';

/** Each way in which code that reads a stranger's text can go wrong. */
const ACTS = {
  answer: () => 'the answer',
  loop: () => {
    for (;;);
  },
  backtrack: () => /^(?:a+)+$/.test(`${'a'.repeat(60)}!`),
  'fill the heap': () => {
    const kept: string[][] = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => `${index}`));
  },
  'allocate at once': () => {
    let text = 'e';
    for (;;) text = text.replaceAll(/e/gu, () => 'e e');
  },
  'exhaust the stack': () => {
    const descend = (): number => descend() + 1;
    return descend();
  },
  throw: () => {
    throw new TypeError('This text is beyond me.');
  },
  'throw a string': () => {
    throw 'no error';
  },
  exit: () => process.exit(3),
  'be killed': () => process.kill(process.pid, 'SIGKILL') && ACTS.loop(),
  'tell its process': () => process.pid,
  'tell its environment': () => Object.keys(process.env).filter((name) => !/^(?:__|NODE_CHANNEL)/.test(name)),
};

export type Act = keyof typeof ACTS;

serveCalls((act: Act) => ACTS[act]());
