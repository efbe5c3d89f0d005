import type { Scope } from '../../platform/database/unit-of-work.js';

/**
 * How much the workspace lets pass by itself. The guardian knows, and stands above this feature, so it provides the
 * answer: one provider for this class in its module.
 */
export abstract class AutonomyMode {
  abstract read(scope: Scope): Promise<string>;
}
