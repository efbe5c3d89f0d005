import type { Fault } from '../../platform/kernel/define-error.js';
import { nameFault } from '../../platform/kernel/visible-name.js';
import { unseenFaults } from '../capos/index.js';
import { SKILL_RULES, assess } from '../evals/index.js';
import { manifestSchema, type PackManifest, schemaFaults } from './pack-manifest.js';

const MAX_ORDER_NAME = 120;

/** The manifest that this is, or why it is none; whether its orders could ever apply is looked at elsewhere. */
export function readManifest(
  raw: unknown,
): { manifest: PackManifest; faults: Fault[] } | { faults: Fault[] } {
  const parsed = manifestSchema.safeParse(raw);
  if (!parsed.success) return { faults: schemaFaults('manifest', parsed.error) };
  const { data: manifest } = parsed;
  const named = orderNameFaults(manifest);
  const unseen = unseenTextFaults(manifest).filter(({ path }) => !named.some((fault) => fault.path === path));
  return { manifest, faults: [...skillFaults(manifest), ...named, ...unseen] };
}

/** A skill that does not pass its eval can be read neither by a capo nor by a person. */
function skillFaults({ skills }: PackManifest): Fault[] {
  return skills.flatMap((skill, index) => {
    const { passed, findings } = assess(SKILL_RULES, skill);
    if (passed) return [];
    return findings
      .filter(({ severity }) => severity !== 'info')
      .map(({ ruleId: rule, path, message }) => inPart('skills', index, { path, rule, message }));
  });
}

/** A name that looks like another in a list of orders, or shows as nothing. */
function orderNameFaults({ standingOrders }: PackManifest): Fault[] {
  return standingOrders.flatMap(({ name }, index) => {
    const fault = typeof name === 'string' ? nameFault(name, MAX_ORDER_NAME) : undefined;
    if (fault === undefined) return [];
    return [
      inPart('standingOrders', index, { path: 'name', rule: 'isVisibleName', message: `name must ${fault}` }),
    ];
  });
}

/** Who installs a pack answers for what it says to people and to models, and so has to see all of it. */
function unseenTextFaults({ description, skills, standingOrders }: PackManifest): Fault[] {
  return unseenFaults({ description, skills, standingOrders }, 'manifest').map(({ path, rule, message }) => ({
    path,
    rule,
    message: `${path.slice(path.lastIndexOf('.') + 1)} ${message}`,
  }));
}

/** A fault of one skill or order, by where it stands in the manifest. */
export function inPart(
  list: 'skills' | 'standingOrders',
  index: number,
  { path, rule, message }: Fault,
): Fault {
  const part = `manifest.${list}.${index}`;
  return { path: path === '' ? part : `${part}.${path}`, rule, message };
}
