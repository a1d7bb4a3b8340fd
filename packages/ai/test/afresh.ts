let times = 0

/** Loads a module once more, as hot reload does: what it imports is as it was. */
export const afresh = <Module>(url: string): Promise<Module> => import(`${url}?afresh=${++times}`) as Promise<Module>
