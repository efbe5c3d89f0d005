import { ValidateBy } from 'class-validator';
import { CONTROL, CONTROL_IN_TEXT } from './text.js';
import { characters, isLongerThan } from './text-length.js';
import { hasUnseen, isBlank } from './unseen.js';

interface Plain {
  oneLine?: boolean;
  /** For a text that people decide by: it holds no invisible characters. */
  visible?: boolean;
}

/** What keeps a text from being the words of a person, to be read after "must"; undefined when nothing does. */
function plainTextFault(value: unknown, maxLength: number, { oneLine, visible }: Plain): string | undefined {
  if (typeof value !== 'string') return 'be text';
  if (isBlank(value)) return blankFault(value);
  if (isLongerThan(value, maxLength)) return `be at most ${characters(maxLength)} long`;
  if (!value.isWellFormed()) return 'be text in Unicode';
  if (oneLine && CONTROL.test(value)) return 'be one line without control characters';
  if (CONTROL_IN_TEXT.test(value)) return 'not contain control characters';
  if (visible && hasUnseen(value)) return 'not contain characters that cannot be seen';
  return undefined;
}

/** Words of a person: not blank, of so many characters, and without control characters but tabs and line breaks. */
export function IsPlainText(maxLength: number, plain: Plain = {}): PropertyDecorator {
  return ValidateBy({
    name: 'isPlainText',
    validator: {
      validate: (value) => plainTextFault(value, maxLength, plain) === undefined,
      defaultMessage: (given) => `$property must ${plainTextFault(given?.value, maxLength, plain)}`,
    },
  });
}

/**
 * Refuses a text in which there is nothing to see. The `@Matches(/\S/)` beside it is what the OpenAPI document says of it: a pattern
 * has no list of what cannot be seen. What is no text at all is the fault of another rule.
 */
export function IsNotBlank(): PropertyDecorator {
  return ValidateBy({
    name: 'isNotBlank',
    validator: {
      validate: (value) => typeof value !== 'string' || !isBlank(value),
      defaultMessage: (given) => `$property must ${blankFault(String(given?.value))}`,
    },
  });
}

/** The same rule for zod: `z.string().refine(...NOT_BLANK)`. */
export const NOT_BLANK = [
  (text: string): boolean => !isBlank(text),
  { error: ({ input }: { input?: unknown }) => `must ${blankFault(String(input))}`, abort: true },
] as const;

/** To be read after "must". White space is called empty; other invisible characters need an explanation. */
function blankFault(text: string): string {
  return text.trim() === '' ? 'not be empty' : 'contain something that can be seen';
}
