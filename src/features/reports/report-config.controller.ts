import { Body, Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { ReportConfigService } from './report-config.service.js';
import type { CustomSectionEntity } from './report.entity.js';
import { ReportConfigs } from './report-configs.repository.js';
import {
  ChangeReportConfigBody,
  CustomSectionBody,
  CustomSectionList,
  CustomSectionView,
  ReportConfigView,
} from './report-config.dto.js';
import { TooManySections } from './reports.errors.js';

@ApiTags('reports')
@Controller('api/pro/reports')
export class ReportConfigController {
  constructor(
    private readonly configs: ReportConfigs,
    private readonly service: ReportConfigService,
  ) {}

  /** How the workspace wants its reports. */
  @Get('config')
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: ReportConfigView } })
  getConfig(@CurrentCaller() caller: Caller): Promise<ReportConfigView> {
    return this.service.read(scopeOf(caller));
  }

  /** Changes how the workspace wants its reports; what is left out stays as it is. */
  @Put('config')
  @Route({ auth: 'member', role: 'admin', returns: { 200: ReportConfigView } })
  updateConfig(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangeReportConfigBody,
  ): Promise<ReportConfigView> {
    return this.service.change(caller, body);
  }

  /** The sections that the workspace has added to its reports. */
  @Get('custom-sections')
  @Route({ auth: 'member', replica: true, role: 'admin', returns: { 200: CustomSectionList } })
  async listSections(@CurrentCaller() caller: Caller): Promise<CustomSectionList> {
    const sections = await this.configs.sections(scopeOf(caller));
    return { items: sections.map(viewOf) };
  }

  /** Adds a section, which its capo writes anew for each report. */
  @Post('custom-sections')
  @Route({ auth: 'member', role: 'admin', returns: { 201: CustomSectionView }, errors: [TooManySections] })
  async addSection(
    @CurrentCaller() caller: Caller,
    @Body() body: CustomSectionBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CustomSectionView> {
    const section = await this.service.addSection(caller, body);
    response.location(`/api/pro/reports/custom-sections/${section.sectionId}`);
    return viewOf(section);
  }

  /** Takes a section out of the reports to come. */
  @ApiParam({
    name: 'sectionId',
    description: 'The id of the section.',
    example: 'sec_01khqw6q006hs686p8sr7arg9t',
  })
  @Delete('custom-sections/:sectionId')
  @Route({ auth: 'member', role: 'admin', returns: { 200: CustomSectionView }, errors: [NotFound] })
  async deleteSection(
    @CurrentCaller() caller: Caller,
    @Param('sectionId') sectionId: string,
  ): Promise<CustomSectionView> {
    return viewOf(await this.service.deleteSection(caller, sectionId));
  }
}

function viewOf(section: CustomSectionEntity): CustomSectionView {
  const { sectionId, title, directive, capo, includeInReport, createdAt } = section;
  return { sectionId, title, directive, capo, includeInReport, createdAt };
}
