/** Where docker-compose.yml mounts the volumes of secrets: a folder for each container that reads some. */
export const SECRETS_DIR = '/secrets';

/** All secrets; only the program that makes them reads it. */
export const MASTER_FILE = '/secrets/all/secrets.json';

export const DEMO_DIR = '/demo';
