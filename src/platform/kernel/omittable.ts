import { ValidateIf } from 'class-validator';

/** It may be left out. Null is a value here, and refused as the wrong one. */
export const IsOmittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);
