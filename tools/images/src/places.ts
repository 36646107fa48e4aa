/** Where docker-compose.yml mounts the volumes of secrets: a folder for each container that reads some. */
export const SECRETS_DIR = '/secrets';

/** All secrets, which only the program that makes them sees. */
export const MASTER_FILE = '/secrets/all/secrets.json';

/** The sample accounts' credentials, and the ids that the seed gave them. */
export const DEMO_DIR = '/demo';
