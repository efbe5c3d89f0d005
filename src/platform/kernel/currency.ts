import { ValidateBy } from 'class-validator';

/** Of ISO 4217, as this runtime knows it. */
export const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

export function isCurrency(value: unknown): boolean {
  return typeof value === 'string' && CURRENCIES.has(value);
}

/** A code of ISO 4217 in upper case. */
export function IsCurrency(): PropertyDecorator {
  return ValidateBy({
    name: 'isCurrency',
    validator: {
      validate: isCurrency,
      defaultMessage: () => '$property must be a code of ISO 4217 in upper case, such as EUR',
    },
  });
}
