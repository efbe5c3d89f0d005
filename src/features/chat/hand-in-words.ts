import { type CapoRole, capoCalled } from '../capos/capo.js';
import { OPENING } from './openings.js';

/** The words by which a member hands in a directive without any model: what stands behind them is the directive. */

const HAND_IN = [
  String.raw`(?:ask|tell|instruct)\s+(?<whom>[\w ]{2,40}?)(?<not>\s+(?:not|never))?\s+to\s+(?=\S)`,
  String.raw`hand (?:this |it )?in(?: as a directive)?\s*[:,]\s*(?=\S)`,
  String.raw`(?:new )?directive(?: for (?<whom>[\w ]{2,40}?))?\s*:\s*(?=\S)`,
].map((words) => new RegExp(`${OPENING}${words}`, 'iuy'));

export interface HandInWords {
  /** Where the directive begins. */
  end: number;
  /** Null: the consigliere chooses. Undefined: somebody is named who is no capo. */
  capo: CapoRole | null | undefined;
  /** "Ask ops not to ..." */
  isNegated: boolean;
}

/** The words at this place of a text; undefined where nothing is handed in. */
export function handInWordsAt(text: string, at: number): HandInWords | undefined {
  for (const pattern of HAND_IN) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) continue;
    const { whom, not }: { whom?: string; not?: string } = found.groups ?? {};
    const capo = whom === undefined ? null : capoCalled(whom);
    return { end: at + found[0].length, capo, isNegated: not !== undefined };
  }
  return undefined;
}
