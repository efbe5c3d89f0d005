import { ValidateBy } from 'class-validator';
import { asciiLooks } from '../../platform/kernel/look-alikes.js';
import { nameKey } from '../../platform/kernel/visible-name.js';

/** As it is compared with those words: in ASCII letters, without accents, and with one of each pair that looks alike. */
function looks(text: string): string {
  const plain = nameKey(text).normalize('NFKD').replace(/\p{M}/gu, '');
  return asciiLooks(plain)
    .toLowerCase()
    .replace(/[l1|]/g, 'i')
    .replace(/0/g, 'o')
    .replace(/5/g, 's')
    .replace(/3/g, 'e');
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' ').map(looks));
/** A name with one of these words would pass for the service itself, whatever else it says. */
const OURS = words('consigliere capo capos guardian system');
/** A name of nothing but these and {@link FILLING} would pass for one of the five capos (capos/capo.ts has their names). */
const CAPOS = words('marketing revenue sales ops operations logistics product engineering ceo executive');
const FILLING = words('the our your team department agent agents bot ai assistant and of');

/** True for a name that people would take for one of our own: "Consigliere", "the Ops team", "CE0". */
export function passesForOurs(name: string, bearer: 'agent' | 'member'): boolean {
  const said = looks(name)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  const together = said.join('');
  if (OURS.has(together) || CAPOS.has(together)) return true;
  const isOurs = (word: string) => OURS.has(word) || CAPOS.has(word);
  // People are called Capo, too.
  if (bearer === 'agent' && said.some((word) => OURS.has(word))) return true;
  return said.some(isOurs) && said.every((word) => isOurs(word) || FILLING.has(word));
}

/** The first of these names that people would take for this one. */
export function lookAlike(name: string, others: readonly string[]): string | undefined {
  const said = looks(name);
  return others.find((other) => looks(other) === said);
}

export function IsNoneOfOurs(bearer: 'agent' | 'member'): PropertyDecorator {
  return ValidateBy({
    name: 'isNoneOfOurs',
    validator: {
      validate: (value) => typeof value !== 'string' || !passesForOurs(value, bearer),
      defaultMessage: () =>
        `$property must not pass for Consigliere, its guardian or one of its capos: choose a name by which people tell the ${bearer} from them`,
    },
  });
}
