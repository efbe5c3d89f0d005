/**
 * What cannot be seen in a text: characters that show as nothing or change the order in which others are read, apart from
 * those that a script or an emoji needs where they stand. An approver must see everything they approve.
 */

/** A whole emoji with its joiners, variation selectors and tags: a family, a keycap, the flag of England. */
export const EMOJI = new RegExp(
  [
    String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
    String.raw`[0-9#*]\ufe0f\u20e3`,
    String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*`,
  ].join('|'),
  'gu',
);

/** Arabic number signs and the like are of the same kind as what shows as nothing, and are seen. */
const SEEN_SIGNS = String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`;
/** The blank of Braille, the filler of Khitan and a note without a head: Unicode counts them as letters and signs. */
const BLANK_SIGNS = String.raw`\u2800\u{16fe4}\u{1d159}`;
const UNSEEN = String.raw`(?![${SEEN_SIGNS}\t\n\r])[\p{Cc}\p{Cf}\p{Cs}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}${BLANK_SIGNS}]`;

const scripts = (...names: string[]) =>
  names.map((name) => String.raw`\p{Script_Extensions=${name}}`).join('');
/** Whose letters are joined, or kept apart, by a joiner. */
const JOINING = scripts(
  ...[
    'Arabic',
    'Syriac',
    'Mandaic',
    'Nko',
    'Mongolian',
    'Devanagari',
    'Bengali',
    'Gurmukhi',
    'Gujarati',
    'Oriya',
  ],
  ...[
    'Tamil',
    'Telugu',
    'Kannada',
    'Malayalam',
    'Sinhala',
    'Tibetan',
    'Myanmar',
    'Khmer',
    'Balinese',
    'Javanese',
  ],
);
/** Which are written without spaces, so that a line may break where nothing is seen. */
const WITHOUT_SPACES = scripts('Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan');
/** A letter read from right to left; a mark of direction belongs to these scripts too and is none. */
const RIGHT_TO_LEFT = `(?!${UNSEEN})[${scripts('Arabic', 'Hebrew', 'Syriac', 'Thaana', 'Nko')}]`;
/** Digits and punctuation, which take the direction of what stands beside them. */
const NEUTRAL = String.raw`[\p{N}\p{P}\p{S}\p{Zs}]{0,20}`;

/** One alone, each where it belongs. Two of them in a row belong nowhere: a text could be written in them. */
const RIGHTLY_USED = [
  String.raw`(?<=[${JOINING}])[\u200c\u200d]`,
  String.raw`[\u200c\u200d](?=[${JOINING}])`,
  String.raw`(?<=[${WITHOUT_SPACES}])\u200b(?=[${WITHOUT_SPACES}])`,
  String.raw`(?<=${RIGHT_TO_LEFT}${NEUTRAL})[\u200e\u200f\u061c]`,
  String.raw`[\u200e\u200f\u061c](?=${NEUTRAL}${RIGHT_TO_LEFT})`,
  String.raw`(?<=[\u2801-\u28ff])\u2800(?=[\u2801-\u28ff])`,
  // Forms of one letter: of a Chinese character in a name, of Mongolian.
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e010f}]`,
  String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180f]`,
  // Keeps the order of two marks on one letter, in Hebrew.
  String.raw`(?<=\p{M})\u034f(?=\p{M})`,
].map((use) => `(?<!${UNSEEN})(?:${use})(?!${UNSEEN})`);

const TOKENS = new RegExp(`${EMOJI.source}|${RIGHTLY_USED.join('|')}|(?<unseen>${UNSEEN})`, 'gu');
const ANY = new RegExp(UNSEEN, 'u');
const SEEN = new RegExp(String.raw`(?!${UNSEEN})\S`, 'u');

/** Whether there is nothing to see in a text: it is empty, or white space and characters that cannot be seen are all there is. */
export function isBlank(text: string): boolean {
  return !SEEN.test(text);
}

/** Whether a text holds characters that cannot be seen. */
export function hasUnseen(text: string): boolean {
  return ANY.test(text) && withoutUnseen(text) !== text;
}

/** The text without the characters that cannot be seen. */
export function withoutUnseen(text: string): string {
  return replaceUnseen(text, () => '');
}

/** The text with a mark such as [U+202E] for each character that cannot be seen. */
export function markUnseen(text: string): string {
  return replaceUnseen(
    text,
    (unseen) => `[U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

function replaceUnseen(text: string, by: (unseen: string) => string): string {
  if (!ANY.test(text)) return text;
  return text.replace(TOKENS, (token: string, ...rest: unknown[]) => {
    const { unseen } = rest.at(-1) as { unseen?: string };
    return unseen === undefined ? token : by(unseen);
  });
}

/** The text, list or object with each text in it without what cannot be seen. */
export function deepWithoutUnseen<T>(value: T): T {
  return inTexts(value, withoutUnseen);
}

/** The text, list or object with each text in it marked. */
export function deepMarkUnseen<T>(value: T): T {
  return inTexts(value, markUnseen);
}

function inTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => inTexts(each, change)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [change(name), inTexts(each, change)]),
  ) as T;
}
