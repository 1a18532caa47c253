/** The store that an environment names, as the library takes it. */
export const storeIn = ({
  STINT_STORE: store,
  STINT_PROJECT: project,
}: Readonly<Record<string, string | undefined>>): { readonly store?: string; readonly project?: string } => ({
  ...(store === undefined ? {} : { store }),
  ...(project === undefined ? {} : { project }),
});
