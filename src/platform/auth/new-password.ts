import { ValidateBy } from 'class-validator';
import { isLongCommonPassword } from './long-common-passwords.js';
import { ValidationFailed } from '../kernel/errors.js';

/** Digits and signs around a word make it no harder to guess, up to so many of them. */
const AFFIXES = 8;

let known: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether a password, in lower case, is among the 49,000 most used of the lists that were stolen elsewhere, or the
 * 3,000 most used of those that are long enough to be chosen; or one of them twice, or with a few digits and signs before or
 * behind it. The lists come with the program: no password is asked about elsewhere.
 */
async function isCommonPassword(folded: string): Promise<boolean> {
  const common = await (known ??= read());
  const isCommon = (text: string) => common.has(text) || isLongCommonPassword(text);
  if (isCommon(folded)) return true;
  const word = folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  if (word !== '' && folded.length - word.length <= AFFIXES && isCommon(word)) return true;
  const half = folded.slice(0, folded.length / 2);
  return half.length * 2 === folded.length && half + half === folded && isCommon(half);
}

/** Read when a password is chosen for the first time: most processes never need it. */
async function read(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** Code points, as NIST SP 800-63B counts them: an emoji made of several is several, and needs as much to be guessed. */
const PASSWORD_LENGTH = { least: 10, most: 200 };
/** What names somebody or the product is taken out of a password; so much must be left. */
const LEAST_BESIDES_NAMES = 6;
/** Shorter words stand in too many passwords by chance. */
const LEAST_NAME = 4;
/** The context of every password here. */
const PRODUCT = 'consigliere';

/**
 * A password as it is hashed and compared: NFKC, so that one keyboard's é is another's, and nothing else; neither case nor
 * spaces are changed, and nothing is cut.
 */
export function canonicalPassword(password: string): string {
  return password.normalize('NFKC');
}

/** Whose password it is to be: what names them makes a poor one. */
export interface PasswordOwner {
  email: string;
  displayName: string;
  workspaceNames: readonly string[];
}

/** Why a text cannot be a password, to be read after "must". */
export function newPasswordLengthFault(value: unknown): string | undefined {
  const { least, most } = PASSWORD_LENGTH;
  if (typeof value !== 'string') return 'be text';
  if (!value.isWellFormed()) return 'be text in Unicode';
  const length = [...canonicalPassword(value)].length;
  return length < least || length > most ? `have ${least} to ${most} characters` : undefined;
}

/** @throws ValidationFailed at `path` for a password of the right length that is easily guessed */
export async function assertNewPassword(
  password: string,
  { path, owner }: { path: string; owner: PasswordOwner },
): Promise<void> {
  const fault = await newPasswordFault(password, owner);
  if (fault === undefined) return;
  throw new ValidationFailed({ details: [{ path, rule: 'isHardToGuess', message: `${path} ${fault}` }] });
}

/** What keeps a text of the right length from being this owner's new password; undefined when nothing does. */
export async function newPasswordFault(password: string, owner: PasswordOwner): Promise<string | undefined> {
  const folded = canonicalPassword(password).toLowerCase();
  if (new Set(folded).size < LEAST_NAME) return 'must have more than three different characters';
  if (await isCommonPassword(folded)) return 'is one of the passwords that are tried first; choose another';
  const rest = namesOf(owner).reduce((left, name) => left.replaceAll(name, ''), folded);
  if (rest.length !== folded.length && [...rest].length < LEAST_BESIDES_NAMES) {
    return `must have at least ${LEAST_BESIDES_NAMES} characters besides the names of you, your organisation and this program`;
  }
  return undefined;
}

/** Of several that stand in each other the longest is taken out first. */
function namesOf({ email, displayName, workspaceNames }: PasswordOwner): string[] {
  const words = [PRODUCT, email, displayName, ...workspaceNames]
    .join(' ')
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u);
  const whole = [email.toLowerCase(), email.slice(0, email.lastIndexOf('@')).toLowerCase()];
  return [...new Set([...whole, ...words])]
    .filter((word) => word.length >= LEAST_NAME)
    .toSorted((a, b) => b.length - a.length);
}

/** A password that somebody chooses; what it must not be is asked of {@link newPasswordFault} once the owner is known. */
export function IsNewPassword(): PropertyDecorator {
  return ValidateBy({
    name: 'isNewPassword',
    validator: {
      validate: (value) => newPasswordLengthFault(value) === undefined,
      defaultMessage: (given) => `$property must ${newPasswordLengthFault(given?.value)}`,
    },
  });
}
