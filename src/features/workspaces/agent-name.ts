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
export function passesForOurs(name: string): boolean {
  const said = looks(name)
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  const together = said.join('');
  if (said.some((word) => OURS.has(word)) || OURS.has(together) || CAPOS.has(together)) return true;
  return said.some((word) => CAPOS.has(word)) && said.every((word) => CAPOS.has(word) || FILLING.has(word));
}

export function IsNoneOfOurs(): PropertyDecorator {
  return ValidateBy({
    name: 'isNoneOfOurs',
    validator: {
      validate: (value) => typeof value !== 'string' || !passesForOurs(value),
      defaultMessage: () =>
        '$property must not pass for Consigliere or one of its capos: name the agent so that people tell it from them',
    },
  });
}
