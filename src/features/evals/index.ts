export { skillSubject } from './eval-subject.js';
export { EvalsModule } from './evals.module.js';
export { InstalledSkills } from './eval.service.js';
export { RecordEval } from './record-eval.js';
export { assess } from './rule.js';
export { SKILL_RULES } from './skill-rules.js';
