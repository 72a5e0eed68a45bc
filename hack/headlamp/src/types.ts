// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import type { Condition, ContainerState, KubeObject } from '../../../pkg/cli/dashboard/web/src/types'

// The fields of objects that the plugin shows, and the dashboard does not.

export interface Rollout {
  stable?: { name?: string; podsHash: string }
  candidate?: { podsHash: string; availableReplicas?: number }
}

export interface Debugger extends KubeObject {
  spec: {
    selector: { matchLabels?: Record<string, string>; matchExpressions?: { key: string; operator: string; values?: string[] }[] }
    image: string
    profile?: string
    whenDeleted?: string
  }
  status?: {
    containerName?: string
    selectedPods?: number
    debuggedPods?: number
    runningPods?: number
    refusedPods?: number
    pods?: { name: string; box?: string; state?: ContainerState; refusal?: string }[]
    podsOmitted?: number
    conditions?: Condition[]
  }
}
