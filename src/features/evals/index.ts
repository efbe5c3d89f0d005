export { skillSubject } from './eval-subject.js';
export { EvalsModule } from './evals.module.js';
export { InstalledSkills, RecordEval } from './eval.service.js';
export { assess } from './rule.js';
export { SKILL_RULES } from './skill-rules.js';
