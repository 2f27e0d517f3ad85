declare module "tr46" {
  export interface ToAsciiOptions {
    checkBidi?: boolean;
    checkHyphens?: boolean;
    checkJoiners?: boolean;
    useSTD3ASCIIRules?: boolean;
    transitionalProcessing?: boolean;
    verifyDNSLength?: boolean;
  }
  export function toASCII(name: string, options?: ToAsciiOptions): string | null;
  export function toUnicode(name: string): { domain: string; error: boolean };
}
