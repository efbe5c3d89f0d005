/**
 * Reported speech turned towards its reader: "tell Ada that her order ships when she confirms" becomes "your order
 * ships when you confirm". A pronoun that may mean somebody else stays as written and is reported, because a wrong
 * "you" in a mail is worse than a stiff sentence.
 */

export interface Reader {
  /** Names of the recipients: "Ada's order" is "your order" for Ada. */
  names: readonly string[];
  plural: boolean;
}

/** Third parties mentioned so far, in this clause or in the ones before it. */
export interface Others {
  person: boolean;
  people: boolean;
}

export const NOBODY_ELSE: Others = { person: false, people: false };

export interface Turned {
  text: string;
  /** Pronouns left alone because somebody else may be meant. */
  unclear: string[];
  others: Others;
}

/** Third parties that the pronouns after them usually mean. */
const THIRD_PARTY =
  /^(?:driver|courier|technician|colleague|manager|boss|assistant|supplier|partner|doctor|agent|engineer|lawyer|accountant|friend|brother|sister|husband|wife|mother|father|man|woman|person|director|owner|employee|intern|candidate|landlord|contractor|consultant|developer|designer|speaker|guest|investor|editor|trainer|nurse|teacher|student|tenant|neighbour|neighbor|customer|client|buyer)$/;
const PLACE_OR_DETERMINER = /^(?:the|a|an|our|your|this|that|in|at|via|on|near|to|from|of)$/;
const CALENDAR =
  /^(?:mon|tues|wednes|thurs|fri|satur|sun)day|^(?:january|february|march|april|may|june|july|august|september|october|november|december)/;
/** A capital at the start of a sentence that is only that: any other one is taken for a name. */
const SENTENCE_OPENER =
  /^(?:the|a|an|our|your|my|we|i|it|its|this|that|these|those|there|here|in|on|at|by|from|for|as|if|when|while|once|after|before|until|since|because|although|please|thanks|thank|all|both|some|many|no|not|unfortunately|however|also|and|but|so|delivery|shipping|payment|everything|nothing|what|how|why|where|who|which|yes|with|without|due)$/;
const PLURAL_OPENER = /^(?:the|our|these|those|all|some|many|several|both|two|three|four|five|few)$/;

const GENDERED = /^(?:he|she|him|his|her|hers|himself|herself)$/;
const NEUTRAL = /^(?:they|them|their|theirs|themselves)$/;

const IRREGULAR: Readonly<Record<string, string>> = {
  is: 'are', was: 'were', has: 'have', does: 'do', goes: 'go',
  "isn't": "aren't", "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't",
}; // prettier-ignore
const ADVERB =
  /^(?:also|still|already|really|just|now|currently|always|often|usually|never|only|actually|probably|then|soon|\p{L}+ly)$/u;
const MODAL =
  /^(?:can|could|will|would|shall|should|may|might|must|cannot|can't|won't|couldn't|wouldn't|shouldn't)$/;
/** After "her" these show that it stood alone: "tell her about", "for her tomorrow". */
const AFTER_OBJECT =
  /^(?:a|an|the|this|that|these|those|our|my|your|its|any|some|all|and|or|but|to|for|of|on|in|at|by|with|from|about|as|if|when|whether|because|before|after|until|again|back|soon|now|today|tomorrow|tonight|yesterday|later|please|know|have|get|up|out|directly|personally|once|what|how|why|where|who|which|immediately|twice|first|then|too|so|is|was|will|would|can|could|should|has|does|did|i|we|he|she|they|you|it)$/;
const GIVES =
  /^(?:send|sends|sent|give|gives|gave|tell|show|shows|offer|offers|email|mail|owe|owes|pay|pays|grant|bring|brings|ship|wish|buy)$/;

export function turnedToReader(clause: string, reader: Reader, before: Others = NOBODY_ELSE): Turned {
  // Whoever writes "you" speaks to the reader already.
  if (/\byou(?:rs?|rself)?\b/i.test(clause)) return { text: clause, unclear: [], others: before };
  const tokens = clause.split(/([\p{L}\p{N}]+(?:['’]\p{L}+)*)/u);
  const unclear = new Set<string>();
  const others = { ...before };

  for (let at = 1; at < tokens.length; at += 2) {
    const word = tokens[at] ?? '';
    const lower = word.toLowerCase().replace('’', "'");
    const previous = tokens[at - 2]?.toLowerCase() ?? '';
    const bare = lower.replace(/'(?:s|re|ve|ll|d)$/, '');

    if (GENDERED.test(bare) || NEUTRAL.test(bare)) {
      if (others.person || (others.people && NEUTRAL.test(bare))) unclear.add(word);
      else turn(tokens, at, lower, reader);
    } else if (reader.names.some((name) => `${name.toLowerCase()}'s` === lower)) {
      tokens[at] = matchCase('your', word);
    } else if (isOtherPerson(word, lower, previous, tokens, at, reader)) {
      others.person = true;
    } else if (/[^su'i]s$/.test(lower) && lower.length > 3 && opensPlural(tokens, at)) {
      others.people = true;
    }
  }
  return { text: tokens.join(''), unclear: [...unclear], others };
}

function isOtherPerson(
  word: string,
  lower: string,
  previous: string,
  tokens: string[],
  at: number,
  reader: Reader,
): boolean {
  if (THIRD_PARTY.test(lower) && /^(?:the|a|an|our|my|another|this|that)$/.test(previous)) return true;
  const startsSentence = at === 1 || /[.!?]\s*$/.test(tokens[at - 1] ?? '');
  return (
    /^\p{Lu}\p{Ll}+$/u.test(word) &&
    !(startsSentence && SENTENCE_OPENER.test(lower)) &&
    !PLACE_OR_DETERMINER.test(previous) &&
    !CALENDAR.test(lower) &&
    !reader.names.some((name) => name.toLowerCase().split(' ').includes(lower))
  );
}

/** "the spare parts": a determiner within the three words before a plural. */
function opensPlural(tokens: string[], at: number): boolean {
  return [2, 4, 6].some((back) => {
    const word = tokens[at - back]?.toLowerCase() ?? '';
    return PLURAL_OPENER.test(word) || /^\d+$/.test(word);
  });
}

function turn(tokens: string[], at: number, lower: string, reader: Reader): void {
  const word = tokens[at] ?? '';
  const next = tokens[at + 2]?.toLowerCase() ?? '';
  const [pronoun = '', ending] = lower.split("'");
  const put = (text: string) => {
    tokens[at] = matchCase(text, word);
  };
  switch (pronoun) {
    case 'his':
    case 'their':
      return put(next === '' || /[.,;!?]/.test(tokens[at + 1] ?? '') ? 'yours' : 'your');
    case 'hers':
    case 'theirs':
      return put('yours');
    case 'himself':
    case 'herself':
      return put('yourself');
    case 'themselves':
      return put(reader.plural ? 'yourselves' : 'yourself');
    case 'him':
    case 'them':
      return put('you');
    case 'her':
      return put(isObject(tokens, at, next) ? 'you' : 'your');
    default:
      return subject(tokens, at, pronoun, ending, put);
  }
}

function isObject(tokens: string[], at: number, next: string): boolean {
  if (next === '' || /[.,;:!?)]/.test(tokens[at + 1] ?? '') || AFTER_OBJECT.test(next)) return true;
  // "send her updates" gives her something, "send her invoice" sends a thing of hers.
  return GIVES.test(tokens[at - 2]?.toLowerCase() ?? '') && /[^s]s$/.test(next);
}

function subject(
  tokens: string[],
  at: number,
  pronoun: string,
  ending: string | undefined,
  put: (text: string) => void,
): void {
  const next = tokens[at + 2]?.toLowerCase() ?? '';
  if (ending === 's')
    return put(/^(?:been|got|had|done|sent|paid|made|seen)$/.test(next) ? "you've" : "you're");
  put(ending === undefined ? 'you' : `you'${ending}`);
  if (pronoun === 'they' || ending !== undefined) return;
  // "when is she free": the verb stands in front.
  const before = tokens[at - 2]?.toLowerCase() ?? '';
  const inverted = IRREGULAR[before];
  if (inverted !== undefined) {
    tokens[at - 2] = matchCase(inverted, tokens[at - 2] ?? '');
    return;
  }
  let verb = at + 2;
  while (ADVERB.test(tokens[verb]?.toLowerCase() ?? '')) verb += 2;
  agree(tokens, verb);
  // "agrees and signs": the second verb directly behind the first belongs to the same subject.
  if (/^(?:and|or)$/.test(tokens[verb + 2]?.toLowerCase() ?? '')) agree(tokens, verb + 4);
}

function agree(tokens: string[], at: number): void {
  const word = tokens[at] ?? '';
  const lower = word.toLowerCase().replace('’', "'");
  if (MODAL.test(lower)) return;
  const plural =
    IRREGULAR[lower] ??
    lower
      .replace(/(?<=[^aeiou])ies$/, 'y')
      .replace(/(?<=(?:s|x|z|ch|sh|o))es$/, '')
      .replace(/(?<![su])s$/, '');
  if (plural !== lower) tokens[at] = matchCase(plural, word);
}

function matchCase(text: string, like: string): string {
  return /^\p{Lu}/u.test(like) && like !== 'I' ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
