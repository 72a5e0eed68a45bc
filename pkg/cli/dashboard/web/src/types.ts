// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// The fields of objects that the page shows.

export interface OwnerReference {
  kind: string
  name: string
  uid: string
  controller?: boolean
}

export interface ObjectMeta {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
}

export interface KubeObject {
  kind?: string
  metadata: ObjectMeta
}

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  observedGeneration?: number
  lastTransitionTime?: string
}

export type Workload = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob'

export interface Check {
  name: string
  max?: string
  min?: string
  count?: number
}

export interface CheckResult {
  name: string
  step: number
  successes?: number
  failures?: number
  inconclusive?: number
  value?: string
  message?: string
}

export interface ModelBox extends KubeObject {
  spec: {
    image: string
    replicas?: number
    workload?: Workload
    paused?: boolean
    rollout?: { onFailure?: string; type?: string; steps?: { weight?: number; pause?: string }[]; checks?: Check[] }
  }
  status?: {
    observedGeneration?: number
    desiredReplicas?: number
    readyReplicas?: number
    updatedReplicas?: number
    address?: string
    rollout?: {
      phase?: string
      podsHash?: string
      reason?: string
      message?: string
      step?: number
      weight?: number
      nextStepAt?: string
      checks?: CheckResult[]
    }
    podNetworks?: PodNetwork[]
    conditions?: Condition[]
  }
}

export interface PodNetwork {
  pod: string
  network: string
  interface?: string
  addresses?: string[]
}

export interface Network extends KubeObject {
  spec: { cidr: string; gateway: string; type?: string; master?: string; vlan?: number; mtu?: number; routes?: string[] }
  status?: {
    observedGeneration?: number
    boxes?: string[]
    boxesOmitted?: number
    usedAddresses?: number
    freeAddresses?: number
    conditions?: Condition[]
  }
}

export interface Component {
  name: string
  boxName?: string
  dependsOn?: string[]
  box?: { image: string; replicas?: number; workload?: Workload }
  external?: { host: string; port: number }
}

export interface ComponentStatus {
  name: string
  state: 'Ready' | 'Waiting' | 'Progressing' | 'Stalled' | 'Terminating'
  waitingFor?: string[]
  reason?: string
  message?: string
  readyReplicas?: number
}

export interface ModelStack extends KubeObject {
  spec: { components: Component[]; paused?: boolean }
  status?: {
    observedGeneration?: number
    readyComponents?: number
    waitingFor?: string
    components?: ComponentStatus[]
    conditions?: Condition[]
  }
}

// WorkloadObject is a Deployment, a StatefulSet, a DaemonSet, a ReplicaSet, a Job or a CronJob.
export interface WorkloadObject extends KubeObject {
  spec: { replicas?: number; paused?: boolean; completions?: number; suspend?: boolean }
  status?: {
    replicas?: number
    succeeded?: number
    active?: number | unknown[]
    readyReplicas?: number
    numberReady?: number
    desiredNumberScheduled?: number
    conditions?: Condition[]
  }
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt?: string }
  terminated?: { reason?: string; message?: string; exitCode: number; finishedAt?: string }
}

export interface ContainerStatus {
  name: string
  ready: boolean
  restartCount: number
  image: string
  state?: ContainerState
  lastState?: ContainerState
}

export interface Pod extends KubeObject {
  spec: {
    nodeName?: string
    containers: { name: string; image: string }[]
    initContainers?: { name: string; image: string; restartPolicy?: string }[]
  }
  status?: {
    phase?: string
    reason?: string
    message?: string
    conditions?: Condition[]
    initContainerStatuses?: ContainerStatus[]
    containerStatuses?: ContainerStatus[]
  }
}

export interface Event extends KubeObject {
  involvedObject: { kind: string; name: string; uid?: string }
  type: string
  reason: string
  message: string
  count?: number
  series?: { count: number; lastObservedTime: string }
  eventTime?: string
  firstTimestamp?: string
  lastTimestamp?: string
}

export interface Revision {
  revision: number
  name: string
  creationTimestamp?: string
  images?: string[]
  changeCause?: string
  changedBy?: string
  failure?: string
  unknown?: string
  changes?: { path: string; before?: string; after?: string }[]
}

export interface History {
  revisions?: Revision[]
}

export interface ChildDiff {
  apiVersion: string
  kind: string
  name: string
  action: string
  effect?: string
  message?: string
  fields?: { path: string; live?: string; wanted?: string; manager?: string; ignored?: boolean }[]
  omittedFields?: number
}

export interface Diff {
  paused?: boolean
  children?: ChildDiff[]
}
