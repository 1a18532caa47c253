export const referencePages = (): ReadonlyMap<string, string> => new Map();
