import type { Writable } from 'node:stream';
import { Interrupted } from './errors.js';

/** Prompts are loaded where they are used, and stand on standard error: standard output is for data. */
const clack = () => import('@clack/prompts');
const output: Writable = process.stderr;

export async function askText(message: string, placeholder?: string): Promise<string> {
  const { text } = await clack();
  const validate = (value: string | undefined) => (value?.trim() ? undefined : 'Please write something.');
  return answered(await text({ message, validate, output, ...(placeholder && { placeholder }) }));
}

export async function askSecret(message: string): Promise<string> {
  const { password } = await clack();
  return answered(await password({ message, output })).trim();
}

export async function askYes(message: string): Promise<boolean> {
  const { confirm } = await clack();
  return answered(await confirm({ message, initialValue: false, output }));
}

export async function askChoice(message: string, choices: string[]): Promise<string> {
  const { select } = await clack();
  return answered(
    await select({ message, output, options: choices.map((value) => ({ value, label: value })) }),
  );
}

function answered<T>(value: T): Exclude<T, symbol> {
  if (typeof value === 'symbol') throw new Interrupted();
  return value as Exclude<T, symbol>;
}

/** The next key that is pressed, without Return. @throws Interrupted for Ctrl-C, and when the terminal is gone */
export async function pressedKey(): Promise<string> {
  const { emitKeypressEvents } = await import('node:readline');
  const { stdin } = process;
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  try {
    return await new Promise((resolve, reject) => {
      const onKey = (text: string | undefined, key: { name?: string; ctrl?: boolean }) => {
        if (key.ctrl && (key.name === 'c' || key.name === 'd')) end(() => reject(new Interrupted()));
        else end(() => resolve(key.name ?? text ?? ''));
      };
      const onEnd = () => end(() => reject(new Interrupted()));
      const end = (settle: () => void) => {
        stdin.off('keypress', onKey).off('end', onEnd);
        settle();
      };
      stdin.once('keypress', onKey).once('end', onEnd);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}
