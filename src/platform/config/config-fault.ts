/** One variable that cannot be used as it is. */
export interface ConfigFault {
  variable: string;
  message: string;
}
