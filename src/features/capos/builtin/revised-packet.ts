import { isDeepStrictEqual } from 'node:util';
import { LIMITS } from '../action-params.js';
import type { DraftPacket } from '../briefing.js';
import { clean, oneLine } from './text.js';

/** A work packet while a wish is followed. Each change answers false where it can't be made, or would leave a rest. */
export class RevisedPacket {
  readonly params: Record<string, unknown>;
  /** What the wish has given anew: whatever else was lacking there is supplied. */
  readonly supplied = new Set<string>();
  readonly #isMail: boolean;
  readonly #former: string[];

  constructor({ type, params }: DraftPacket) {
    this.params = structuredClone(params);
    this.#isMail = type === 'email.send';
    this.#former = [...this.#list('to'), ...this.#list('cc')];
  }

  setRecipients(recipients: readonly string[]): boolean {
    // "cc bob@... and to sue@..." may mean two copies.
    if (!isDeepStrictEqual(this.#former, [...this.#list('to'), ...this.#list('cc')])) return false;
    const copies = without(this.#list('cc'), recipients);
    if (this.params['cc'] !== undefined) this.#put('cc', copies);
    return this.#put('to', recipients);
  }

  addRecipients(recipients: readonly string[]): boolean {
    const copies = this.#list('cc');
    const isCopied = without(copies, recipients).length < copies.length;
    return !isCopied && this.#put('to', [...without(this.#list('to'), recipients), ...recipients]);
  }

  copy(recipients: readonly string[]): boolean {
    const to = this.#list('to');
    const isReceiving = without(to, recipients).length < to.length;
    return !isReceiving && this.#put('cc', [...without(this.#list('cc'), recipients), ...recipients]);
  }

  /** Wherever the old ones stand, the first of them gives its place to the new ones. */
  replaceRecipients(old: readonly string[], recipients: readonly string[]): boolean {
    const known = [...this.#list('to'), ...this.#list('cc')];
    if (without(old, known).length > 0 || without(recipients, old).length < recipients.length) return false;
    const isCopy = without(this.#list('to'), old).length === this.#list('to').length;
    for (const name of ['to', 'cc'] as const) {
      const list = this.#list(name);
      const at = list.findIndex((each) => has(old, each));
      const added = (name === 'cc') === isCopy ? recipients : [];
      const rest = without(list, [...old, ...recipients]);
      const before = without(list.slice(0, at), [...old, ...recipients]).length;
      if (at >= 0 && !this.#put(name, rest.toSpliced(before, 0, ...added))) return false;
    }
    return true;
  }

  /** The subject of a mail, the title of whatever else has one. */
  setHeading(text: string): boolean {
    const name = this.#isMail ? 'subject' : 'title';
    return this.#give(name, oneLine(text), LIMITS.title);
  }

  setBody(text: string): boolean {
    return this.#give('body', clean(text).trim(), LIMITS.mail);
  }

  /** In the heading and the body alike; not where the same words stand in other letters, or within a longer word, too. */
  replaceWords(old: string, words: string): boolean {
    const literal = old.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
    let count = 0;
    for (const name of ['subject', 'title', 'body']) {
      const text = this.params[name];
      if (typeof text !== 'string') continue;
      const whole = new RegExp(String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])`, 'gu');
      const found = text.match(whole)?.length ?? 0;
      if (found !== (text.match(new RegExp(literal, 'giu'))?.length ?? 0)) return false;
      const limit = name === 'body' ? LIMITS.mail : LIMITS.title;
      const changed = text.replaceAll(whole, () => words);
      if (changed.length > limit || (name !== 'body' && /\n/.test(words))) return false;
      this.params[name] = changed;
      count += found;
    }
    return count > 0;
  }

  /** An address that received it, does so no longer, and still stands in it; or that nobody would receive it. */
  addressLeft(): string | undefined {
    if (!this.#isMail) return undefined;
    const gone = without(this.#former, [...this.#list('to'), ...this.#list('cc')]);
    const left = gone.find((address) =>
      JSON.stringify(this.params).toLowerCase().includes(address.toLowerCase()),
    );
    return left ?? (this.#former.length > 0 && this.#list('to').length === 0 ? this.#former[0] : undefined);
  }

  #list(name: 'to' | 'cc'): string[] {
    const list = this.params[name];
    return Array.isArray(list) ? (list as string[]) : [];
  }

  #put(name: 'to' | 'cc', addresses: readonly string[]): boolean {
    if (!this.#isMail || addresses.length > LIMITS.recipients) return false;
    if (name === 'to' && this.#former.length === 0) this.supplied.add('params.to');
    this.params[name] = [...addresses];
    return true;
  }

  #give(name: string, text: string, limit: number): boolean {
    if (text === '' || text.length > limit) return false;
    this.params[name] = text;
    this.supplied.add(`params.${name}`);
    return true;
  }
}

function has(list: readonly string[], address: string): boolean {
  return list.some((each) => each.toLowerCase() === address.toLowerCase());
}

function without(list: readonly string[], addresses: readonly string[]): string[] {
  return list.filter((each) => !has(addresses, each));
}
