import { IsIn, IsOptional, Matches } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { SECTION_KEYS } from './report.js';
import { CAPO_ROLES } from '../terms/index.js';

const REPORT_ID = /^rpt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const OF_REPORT = { message: '$property must be the id of a report' };
const MAX_COMMENT = 4_000;

/** The parts of a report that a comment can be about: a capo of the family report, or a section of the Daily Report. */
const COMMENTED_PARTS = [...CAPO_ROLES, ...SECTION_KEYS] as const;
export type CommentedPart = (typeof COMMENTED_PARTS)[number];

/** Body of `POST /family/comment`. */
export class CommentBody {
  /** The report that it is about. @example 'rpt_01khqmcr00k2v9m5d8q1tzxwb3' */
  @Matches(REPORT_ID, OF_REPORT)
  reportId!: string;

  /** The part that it is about: a capo, or a section of the Daily Report. Left out: the whole report. @example 'capo_ops' */
  @IsOptional()
  @IsIn(COMMENTED_PARTS)
  sectionKey?: CommentedPart;

  /** What you say, at most 4,000 characters. @example 'The two delays were the carrier; I have called them.' */
  @IsPlainText(MAX_COMMENT)
  body!: string;
}

/** Query of `GET /family/comment`. */
export class CommentsQuery extends PageQuery {
  /** The report. Left out: all reports that you may read. @example 'rpt_01khqmcr00k2v9m5d8q1tzxwb3' */
  @IsOptional()
  @Matches(REPORT_ID, OF_REPORT)
  reportId?: string;
}

/** What somebody said about a report. */
export class CommentView {
  /** The id of the comment. @example 'cmt_01khqws0y0g13zyp5vc6y27gyg' */
  commentId!: string;
  /** The report that it is about. @example 'rpt_01khqmcr00k2v9m5d8q1tzxwb3' */
  reportId!: string;
  /** The team of the report; null: not of one team alone. */
  teamId!: string | null;
  /** The part that it is about; null: the whole report. */
  sectionKey!: CommentedPart | null;
  /** What was said, plain text. @example 'The two delays were the carrier; I have called them.' */
  body!: string;
  /** Who said it. */
  createdBy!: ActorView;
  /** When it was said, Unix milliseconds. @example 1771402200000 */
  createdAt!: number;
  /** The receipt of the comment. @example 'rcp_01khqws0y0g13zyp5vc6y27gyg' */
  receiptId!: string;
}

export class CommentPage extends PageFacts {
  /** The comments of this page, newest first. */
  items!: CommentView[];
}
