import { EffectFailed } from './packet-effect.js';

/** The outcome of a request to any outside service. */
export type OutsideAnswer =
  | { kind: 'answered'; status: number; retryAfterSeconds?: number; excerpt: string }
  | { kind: 'failed'; error: string; mayHaveArrived: boolean };

interface Rules {
  /** Begins each code: WEBHOOK_REFUSED, CALL_REFUSED. */
  code: 'WEBHOOK' | 'CALL';
  /** Who was asked, at the beginning of a sentence. */
  who: string;
  /** The same request may be made twice and takes effect once, or never takes any. */
  isRepeatable: boolean;
  /** It only reads. */
  isHarmless: boolean;
  /** An answer that refuses says that nothing was done, so that it may be asked again. */
  refusalMeansNothingDone: boolean;
}

/** The longest that a Retry-After is followed: work that waits longer is better looked at by a person. */
const MAX_WAIT_MS = 10 * 60_000;
/** Nothing has been done yet, says who answers so. */
const TRY_LATER = [408, 425, 429];

/**
 * Nothing where the answer is a success. What may have taken effect is not asked for again unless that is safe: then it is
 * unconfirmed, and a person has to look.
 * @throws EffectFailed
 */
export function assertAccepted(answer: OutsideAnswer, rules: Rules): asserts answer is Answered {
  if (answer.kind === 'failed') throw withoutAnswer(answer, rules);
  if (answer.status < 200 || answer.status >= 300) throw refusal(answer, rules);
}

type Answered = Extract<OutsideAnswer, { kind: 'answered' }>;
type Failed = Extract<OutsideAnswer, { kind: 'failed' }>;

function withoutAnswer(
  { error, mayHaveArrived }: Failed,
  { code, who, isRepeatable, isHarmless }: Rules,
): EffectFailed {
  if (error === 'destination') {
    return new EffectFailed(`${code}_ADDRESS`, `${who} is at an address that nothing may be sent to.`, false);
  }
  if (!mayHaveArrived || isHarmless) {
    const about = mayHaveArrived ? 'gave no answer' : 'was not reached';
    return new EffectFailed(`${code}_UNREACHABLE`, `${who} ${about} (${error}).`, true);
  }
  return unconfirmed(`${who} gave no answer (${error})`, code, isRepeatable);
}

/** One that may be repeated is: if no later try succeeds either, it ends as what it is. */
function unconfirmed(
  what: string,
  code: Rules['code'],
  isRepeatable: boolean,
  known: EffectFailed['known'] = {},
): EffectFailed {
  const rest = isRepeatable ? '' : ', so it is not tried again';
  const message = `${what}; it is not known whether it took effect${rest}.`;
  return new EffectFailed(`${code}_UNCONFIRMED`, message, isRepeatable, known);
}

function refusal({ status, retryAfterSeconds, excerpt }: Answered, rules: Rules): EffectFailed {
  const { code, who, isRepeatable, isHarmless, refusalMeansNothingDone } = rules;
  const says = `${who} answered ${status}`;
  const waitMs = Math.min(MAX_WAIT_MS, (retryAfterSeconds ?? 0) * 1_000);
  const known = { answered: { status, ...(excerpt !== '' && { answer: excerpt }) }, waitMs };
  const saysLater = TRY_LATER.includes(status) || (status === 503 && retryAfterSeconds !== undefined);
  if (saysLater || (status >= 500 && (isHarmless || refusalMeansNothingDone)))
    return new EffectFailed(`${code}_REFUSED`, `${says}.`, true, known);
  if (status >= 500) return unconfirmed(says, code, isRepeatable, known);
  const why = status >= 300 && status < 400 ? ', a redirect, which is never followed' : '';
  return new EffectFailed(`${code}_REFUSED`, `${says}${why}.`, false, known);
}
