// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { pathOf, type Access } from './api'
import { hasFailedRollout, isInSteps } from './health'
import type { ModelBox, ModelStack } from './types'

// Action is a request that changes a box or a stack.
export interface Action {
  label: string
  // question is what is asked before it is done.
  question: string
  // done is what has been done after it.
  done: string
  access: Access
  body: Record<string, unknown>
  // option is what a user who may do that can choose before it is done. It adds fields to the body.
  option?: { label: string; access: Access; fields: Record<string, unknown> }
}

const verbs = { patch: 'PATCH', create: 'POST' } as const

type Resource = Access['resource']

const nouns: Record<Resource, string> = { modelboxes: 'box', modelstacks: 'stack' }

function pauseAction(resource: Resource, name: string, paused: boolean): Action {
  const noun = nouns[resource]
  return {
    label: paused ? 'Pause' : 'Resume',
    question: paused
      ? `Pause ${noun} ${name}? The server leaves its children as they are, and changes wait until it is resumed.`
      : `Resume ${noun} ${name}? The server applies what has changed meanwhile.`,
    done: `${noun} ${name} ${paused ? 'paused' : 'resumed'}`,
    access: { verb: 'patch', resource, name },
    body: { spec: { paused } },
  }
}

function restartAction(resource: Resource, name: string): Action {
  return {
    label: 'Restart',
    question: `Restart ${nouns[resource]} ${name}? All its pods are replaced by new ones that are the same.`,
    done: `${nouns[resource]} ${name} restarted`,
    access: { verb: 'create', resource, subresource: 'restart', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRestart' },
  }
}

function retryAction(name: string): Action {
  return {
    label: 'Retry',
    question: `Try the failed rollout of box ${name} again, with the same spec?`,
    done: `rollout of box ${name} retried`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'retry', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRetry' },
  }
}

function promoteAction(name: string, full: boolean): Action {
  return {
    label: full ? 'Promote fully' : 'Promote',
    question: full
      ? `Leave out all steps that are left in the rollout of box ${name}? The new revision takes the place of the stable one.`
      : `Take the rollout of box ${name} to its next step?`,
    done: `rollout of box ${name} promoted`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'promote', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxPromotion', full },
  }
}

function abortAction(name: string): Action {
  return {
    label: 'Abort',
    question: `Abort the rollout of box ${name}? Its pods get the stable revision back, and its spec stays as it is.`,
    done: `rollout of box ${name} aborted`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'abort', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxAbort' },
  }
}

export function rollbackAction(box: ModelBox, revision: number): Action {
  const name = box.metadata.name
  return {
    label: `Roll back to ${revision}`,
    question: `Roll back box ${name} to revision ${revision}?`,
    done: `box ${name} rolled back to revision ${revision}`,
    access: { verb: 'create', resource: 'modelboxes', subresource: 'rollback', name },
    body: { apiVersion: 'model.github.com/v1', kind: 'ModelBoxRollback', toRevision: revision },
    option: box.spec.rollout?.type
      ? {
          label: 'Immediately, without the steps of the rollout and its checks',
          access: { verb: 'create', resource: 'modelboxes', subresource: 'promote', name },
          fields: { immediate: true },
        }
      : undefined,
  }
}

// boxActions returns the actions that make sense for a box now.
export function boxActions(box: ModelBox): Action[] {
  const name = box.metadata.name
  const actions = [pauseAction('modelboxes', name, !box.spec.paused)]
  if (box.spec.paused) return actions
  actions.push(restartAction('modelboxes', name))
  if (hasFailedRollout(box)) actions.push(retryAction(name))
  if (isInSteps(box)) actions.push(promoteAction(name, false), promoteAction(name, true), abortAction(name))
  return actions
}

// stackActions returns the actions that make sense for a stack now.
export function stackActions(stack: ModelStack): Action[] {
  const name = stack.metadata.name
  const pause = pauseAction('modelstacks', name, !stack.spec.paused)
  return stack.spec.paused ? [pause] : [pause, restartAction('modelstacks', name)]
}

// requestOf returns the request that does an action, or its dry run.
export function requestOf(
  namespace: string,
  { access, body }: Action,
  fieldManager: string,
  isDryRun: boolean,
): { method: string; path: string; body: Action['body']; contentType?: string } {
  const { resource, name, subresource, verb } = access
  const path = pathOf(namespace, resource, name, ...(subresource ? [subresource] : []))
  return {
    method: verbs[verb as keyof typeof verbs],
    path: `${path}?fieldManager=${fieldManager}${isDryRun ? '&dryRun=All' : ''}`,
    body,
    contentType: verb === 'patch' ? 'application/merge-patch+json' : undefined,
  }
}
