// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { KubeObject } from '@kinvolk/headlamp-plugin/lib/K8s/cluster'
import type { ModelBox as Box, ModelStack as Stack, Network as NetworkObject } from '../../../pkg/cli/dashboard/web/src/types'
import type { Debugger, Rollout } from './types'

// ModelObject is an object of the group model.github.com. Its pages have the name of its kind, and of its resource.
export class ModelObject extends KubeObject {
  static apiVersion = 'model.github.com/v1'
  static isNamespaced = true

  get metadata(): KubeObject['metadata'] & { namespace: string } {
    return this.jsonData.metadata
  }
}

export class ModelBox extends ModelObject {
  static kind = 'ModelBox'
  static apiName = 'modelboxes'

  get box(): Box & { status?: { rollout?: Rollout } } {
    return this.jsonData
  }
}

export class ModelStack extends ModelObject {
  static kind = 'ModelStack'
  static apiName = 'modelstacks'

  get stack(): Stack {
    return this.jsonData
  }
}

// Network has pages with names that the pages of Headlamp do not have.
export class Network extends ModelObject {
  static kind = 'Network'
  static apiName = 'networks'

  static get detailsRoute() {
    return 'ModelBoxNetwork'
  }

  static get listRoute() {
    return 'ModelBoxNetworks'
  }

  get network(): NetworkObject {
    return this.jsonData
  }
}

export class PodDebugger extends ModelObject {
  static kind = 'PodDebugger'
  static apiName = 'poddebuggers'

  get podDebugger(): Debugger {
    return this.jsonData
  }
}
