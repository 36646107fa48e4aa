import '../suite/on-cluster.ts';
import '../../src/endpoints/token/503.test.ts';
