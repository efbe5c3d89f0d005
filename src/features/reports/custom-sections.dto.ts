import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';

/** Body of `POST /reports/custom-sections` (SPECIFICATION, Custom report section). */
export class CustomSectionBody {
  /** The section's name; at most 120 characters on one line. @example 'The week' */
  @IsPlainText(120, { oneLine: true })
  title!: string;
  /**
   * What the capo is asked for each report; at most 4,000 characters.
   * @example 'Write a document "Monday": Check the open offers.'
   */
  @IsPlainText(4_000)
  directive!: string;
  /** Who writes it. @example 'capo_revenue' */
  @IsIn(CAPO_ROLES)
  capo!: CapoRole;
  /** Whether reports have it; true unless said. @example true */
  @IsOptional()
  @IsBoolean()
  includeInReport?: boolean;
}

/** A section that the workspace has added to its reports. */
export class CustomSectionView {
  /** The id of the section. @example 'sec_01khqw6q006hs686p8sr7arg9t' */
  sectionId!: string;
  /** Its name. @example 'The week' */
  title!: string;
  /** What the capo is asked for each report. @example 'Write a document "Monday": Check the open offers.' */
  directive!: string;
  /** Who writes it. @example 'capo_revenue' */
  capo!: CapoRole;
  /** Whether reports have it. @example true */
  includeInReport!: boolean;
  /** When it was added, Unix milliseconds. @example 1771401690000 */
  createdAt!: number;
}

/** The sections that the workspace has added to its reports, the oldest first. */
export class CustomSectionList {
  /** At most ten. */
  items!: CustomSectionView[];
}
