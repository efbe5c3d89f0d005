export type { Stretch } from './kpi-calendar.js';
export { OutsideAgentFigures } from './kpi.dto.js';
export { KpiModule } from './kpi.module.js';
export { KpiService, type TileFigures, type TileQuestion } from './kpi.service.js';
