/** A file is not Parquet, is damaged, or goes beyond the limits. */
export class ParquetError extends Error {}
