// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import type { Check, CheckResult, Component, ComponentStatus, Condition, ContainerStatus, KubeObject, ModelBox, ModelStack, Network, Pod, Workload, WorkloadObject } from './types'

export type Health = 'healthy' | 'underway' | 'failing'

export interface Summary {
  status: string
  message: string
  health: Health
}

// summaryOf sums up an object in the words of the tables of kubectl get.
export function summaryOf(object: KubeObject & { status?: { conditions?: Condition[] } }, noun: 'box' | 'stack' | 'network' | 'PodDebugger'): Summary {
  const conditions = object.status?.conditions ?? []
  const generation = object.metadata.generation ?? 0
  const ready = conditions.find((condition) => condition.type === 'Ready')
  const isStalled = conditions.some((c) => c.type === 'Stalled' && c.status === 'True' && (c.observedGeneration ?? 0) >= generation)
  if (object.metadata.deletionTimestamp) return { status: 'Terminating', message: `the ${noun} is being deleted`, health: 'underway' }
  if (!ready) return { status: 'Pending', message: `the controller has not seen this ${noun} yet`, health: 'underway' }
  if (ready.status !== 'Unknown' && (ready.observedGeneration ?? 0) < generation) {
    return { status: 'Pending', message: 'the controller has not seen the last change yet', health: 'underway' }
  }
  const health = ready.status === 'True' ? 'healthy' : isStalled ? 'failing' : 'underway'
  return { status: ready.reason ?? '', message: ready.message ?? '', health }
}

// networkSummary is the summary of a network, which has no condition Stalled: it fails while the cluster refuses what it becomes.
export function networkSummary(network: Network): Summary {
  const summary = summaryOf(network, 'network')
  const { boxes = [], boxesOmitted = 0, conditions = [] } = network.status ?? {}
  if (network.metadata.deletionTimestamp) {
    const users = boxesOmitted ? `${boxes.join(', ')} and ${boxesOmitted} more` : boxes.join(', ')
    return { ...summary, message: users ? `waiting until no box uses it: ${users}` : summary.message }
  }
  const applied = conditions.find(({ type }) => type === 'Applied')
  const isRefused = applied?.status === 'False' && ['NotOwned', 'Forbidden', 'Invalid', 'Rejected', 'NotServed'].includes(applied.reason ?? '')
  return isRefused && summary.status !== 'Pending' ? { ...summary, health: 'failing' } : summary
}

// freeAddresses is how many addresses of a network are free. The API has no greater number.
export function freeAddresses({ status }: Network): string {
  const free = status?.freeAddresses ?? 0
  return free === 2 ** 31 - 1 ? 'more than 2 billion' : String(free)
}

// hasReplicas returns whether a workload has a number of replicas.
export function hasReplicas(workload: Workload = 'Deployment'): boolean {
  return workload === 'Deployment' || workload === 'StatefulSet'
}

// desiredReplicas are those that the table of boxes counts against: an autoscaler may decide, and a DaemonSet, a Job and a CronJob have no
// replicas in the spec.
export function desiredReplicas(box: ModelBox): number {
  const desired = box.status?.desiredReplicas
  if (!hasReplicas(box.spec.workload)) return desired ?? 0
  if (desired !== undefined && box.status?.observedGeneration === box.metadata.generation) return desired
  return box.spec.replicas ?? 1
}

export function boxReady(box: ModelBox): string {
  return `${box.status?.readyReplicas ?? 0}/${desiredReplicas(box)}`
}

// boxRollout is the phase of the rollout of a box that asks for that.
export function boxRollout(box: ModelBox): string {
  return (box.spec.rollout && box.status?.rollout?.phase) || ''
}

// hasFailedRollout says that there is a rollout to try again.
export function hasFailedRollout(box: ModelBox): boolean {
  return ['Failed', 'Paused', 'RolledBack'].includes(box.status?.rollout?.phase ?? '')
}

// isInSteps says that the rollout of a box is in steps, which a user can promote or abort.
export function isInSteps(box: ModelBox): boolean {
  return box.status?.rollout?.step !== undefined && box.status.rollout.phase === 'Progressing'
}

// describeStep is the step that the rollout of a box is in, empty for a rollout without steps.
export function describeStep(box: ModelBox): string {
  const rollout = box.status?.rollout
  if (rollout?.step === undefined) return ''
  const count = Math.max(1, box.spec.rollout?.steps?.length ?? 0)
  const step = rollout.step > count ? 'all steps are over' : `step ${rollout.step} of ${count}`
  const pause = rollout.nextStepAt ? `, next step at ${new Date(rollout.nextStepAt).toLocaleTimeString()}` : ''
  return `${step}, ${rollout.weight ?? 0}% of the traffic${pause}`
}

// checkHealth is healthy for a check that lets the rollout continue, and failing for one whose last measurement has failed.
export function checkHealth(check: Check, result: CheckResult): Health {
  if (result.message) return result.value ? 'failing' : 'underway'
  return (result.successes ?? 0) >= (check.count ?? 1) ? 'healthy' : 'underway'
}

// limitOf says which values of a check succeed.
export function limitOf(check: Check): string {
  const { min, max } = check
  if (min !== undefined && max !== undefined) return `${min} to ${max}`
  return min !== undefined ? `at least ${min}` : `at most ${max}`
}

export function componentHealth(status: ComponentStatus | undefined): Health {
  if (status?.state === 'Ready') return 'healthy'
  return status?.state === 'Stalled' ? 'failing' : 'underway'
}

// componentReady are the ready and the desired pods of a component, empty for one outside of the cluster.
export function componentReady(component: Component | undefined, status: ComponentStatus | undefined): string {
  if (!component?.box) return ''
  const { replicas, workload } = component.box
  const ready = status?.readyReplicas ?? 0
  return `${ready}/${replicas ?? (hasReplicas(workload) ? 1 : ready)}`
}

// boxNameOf returns the name of the box of a component.
export function boxNameOf(stack: ModelStack, component: Component): string {
  return component.boxName || `${stack.metadata.name}-${component.name}`
}

// conditionHealth says whether one of the conditions of a box or a stack is as it should be when nothing is left to do.
export function conditionHealth(condition: Condition, conditions: Condition[]): Health {
  const isTrue = (type: string) => conditions.some((other) => other.type === type && other.status === 'True')
  switch (condition.type) {
    case 'Stalled':
      return condition.status === 'True' ? 'failing' : 'healthy'
    case 'Progressing':
      return condition.status === 'False' && isTrue('Ready') ? 'healthy' : isTrue('Stalled') ? 'failing' : 'underway'
  }
  return condition.status === 'True' ? 'healthy' : isTrue('Stalled') ? 'failing' : 'underway'
}

// containerSummary is a container in the words of kubectl get pods.
export function containerSummary(container: ContainerStatus | undefined): Summary {
  const state = container?.state
  if (state?.waiting) {
    let message = state.waiting.message ?? ''
    const last = container?.lastState?.terminated
    if (last && last.exitCode !== 0) message = `${message ? `${message}; ` : ''}the last one ended with exit code ${last.exitCode}: ${last.reason ?? ''}`
    const isStarting = ['ContainerCreating', 'PodInitializing'].includes(state.waiting.reason ?? '')
    return { status: state.waiting.reason ?? 'Waiting', message, health: isStarting ? 'underway' : 'failing' }
  }
  if (state?.terminated) {
    const { exitCode, reason, message } = state.terminated
    const status = reason || (exitCode === 0 ? 'Completed' : 'Error')
    return { status, message: exitCode === 0 ? '' : `ended with exit code ${exitCode} ${message ?? ''}`.trim(), health: exitCode === 0 ? 'healthy' : 'failing' }
  }
  if (state?.running) return { status: 'Running', message: '', health: container?.ready ? 'healthy' : 'underway' }
  return { status: 'Waiting', message: '', health: 'underway' }
}

// podSummary is a pod in the words of kubectl get pods, with the message of what is wrong.
export function podSummary(pod: Pod): Summary & { ready: string; restarts: number } {
  let status = pod.status?.reason || pod.status?.phase || 'Pending'
  let message = pod.status?.message ?? ''
  let isFailing = false
  const fail = (reason: string, text: string) => {
    status = reason
    message = text
    isFailing = true
  }
  for (const condition of pod.status?.conditions ?? []) {
    if (condition.type === 'PodScheduled' && condition.status === 'False') fail(condition.reason ?? '', condition.message ?? '')
  }
  let restarts = 0
  let ready = 0
  for (const container of pod.status?.initContainerStatuses ?? []) {
    restarts += container.restartCount
    const summary = containerSummary(container)
    if (summary.health === 'failing') fail(`Init:${summary.status}`, summary.message)
  }
  for (const container of pod.status?.containerStatuses ?? []) {
    restarts += container.restartCount
    if (container.ready) ready++
    const summary = containerSummary(container)
    if (summary.health === 'failing') fail(summary.status, summary.message)
    else if (!isFailing && container.state?.waiting?.reason) status = container.state.waiting.reason
  }
  const count = pod.spec.containers.length
  let health: Health = ready === count || pod.status?.phase === 'Succeeded' ? 'healthy' : isFailing || pod.status?.phase === 'Failed' ? 'failing' : 'underway'
  if (pod.metadata.deletionTimestamp) {
    status = 'Terminating'
    message = ''
    health = 'underway'
  }
  return { status, message, health, ready: `${ready}/${count}`, restarts }
}

// replicasOf are the ready and the desired pods of a workload. Those of a Job are the ones that have succeeded and have to.
export function replicasOf(kind: string, { spec, status = {} }: WorkloadObject): [number, number] {
  switch (kind) {
    case 'DaemonSet':
      return [status.numberReady ?? 0, status.desiredNumberScheduled ?? 0]
    case 'Job':
      return [status.succeeded ?? 0, spec.completions ?? 1]
    default:
      return [status.readyReplicas ?? 0, spec.replicas ?? 1]
  }
}

// childrenOf returns the objects that an object controls.
export function childrenOf<T extends KubeObject>(owner: KubeObject, objects: readonly T[]): T[] {
  return objects.filter((object) => object.metadata.ownerReferences?.some((reference) => reference.controller && reference.uid === owner.metadata.uid))
}
