import type { Writable } from 'node:stream';
import { Interrupted } from './errors.js';

/** Prompts are loaded where they are used, and stand on standard error: standard output is for data. */
const clack = () => import('@clack/prompts');
const output: Writable = process.stderr;

export async function askText(message: string, { isOptional = false } = {}): Promise<string> {
  const { text } = await clack();
  const validate = (value: string | undefined) =>
    isOptional || value?.trim() ? undefined : 'Please write something.';
  return answered(await text({ message, validate, output })) ?? '';
}

export async function askSecret(message: string): Promise<string> {
  const { password } = await clack();
  return answered(await password({ message, output })).trim();
}

export async function askYes(message: string): Promise<boolean> {
  const { confirm } = await clack();
  return answered(await confirm({ message, initialValue: false, output }));
}

function answered<T>(value: T): Exclude<T, symbol> {
  if (typeof value === 'symbol') throw new Interrupted();
  return value as Exclude<T, symbol>;
}

/** Keys that were pressed before a prompt was there are meant for something else. */
const TYPED_AHEAD_MS = 100;

/** The next key that is pressed after the prompt is there, without Return. @throws Interrupted for Ctrl-C, and when the terminal is gone */
export async function pressedKey(prompt: string): Promise<string> {
  const { emitKeypressEvents } = await import('node:readline');
  const { stdin } = process;
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  try {
    return await new Promise((resolve, reject) => {
      let isOpen = false;
      const onKey = (text: string | undefined, key: { name?: string; ctrl?: boolean }) => {
        if (key.ctrl && (key.name === 'c' || key.name === 'd')) end(() => reject(new Interrupted()));
        else if (isOpen) end(() => resolve(key.name ?? text ?? ''));
      };
      const onEnd = () => end(() => reject(new Interrupted()));
      const timer = setTimeout(() => {
        isOpen = true;
        process.stderr.write(prompt);
      }, TYPED_AHEAD_MS);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        stdin.off('keypress', onKey).off('end', onEnd);
        settle();
      };
      stdin.on('keypress', onKey).once('end', onEnd);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}
