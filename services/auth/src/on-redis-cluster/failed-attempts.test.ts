import '../suite/on-cluster.ts';
import '../abuse/429-failed-attempts.test.ts';
