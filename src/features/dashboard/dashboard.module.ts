import { Module } from '@nestjs/common';
import { DashboardController } from './dashboard.controller.js';

/** @level 1 */
@Module({ controllers: [DashboardController] })
export class DashboardModule {}
