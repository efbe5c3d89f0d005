export type { Stretch } from './kpi-calendar.js';
export { KpiTiles, type TileFigures, type TileQuestion } from './kpi-tiles.js';
export { OutsideAgentFigures } from './kpi.dto.js';
export { KpiModule } from './kpi.module.js';
