// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"

	"k8s.io/client-go/dynamic"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// definitionCRD is the CustomResourceDefinition of NetworkAttachmentDefinitions, as the standard defines it, in
// apiextensions.k8s.io/v1.
const definitionCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: network-attachment-definitions.k8s.cni.cncf.io
spec:
  group: k8s.cni.cncf.io
  scope: Namespaced
  names:
    plural: network-attachment-definitions
    singular: network-attachment-definition
    kind: NetworkAttachmentDefinition
    shortNames: [net-attach-def]
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              config: {type: string}
`

// ServeNetworkAttachments makes the cluster serve NetworkAttachmentDefinitions until the end of the test.
func (n *Namespace) ServeNetworkAttachments() {
	n.T.Helper()
	n.Kubectl.RunWithInput(definitionCRD, "create", "--filename=-")
	n.T.Cleanup(n.StopServingNetworkAttachments)
}

// StopServingNetworkAttachments deletes the kind and its objects, if the cluster serves it. This fails with Kubernetes 1.33 if a
// controller applies the objects again.
func (n *Namespace) StopServingNetworkAttachments() {
	n.T.Helper()
	crd := "customresourcedefinition/" + networkattachment.Resource.GroupResource().String()
	run := RunKubectl(n.ControlPlane.KubectlCommand(context.WithoutCancel(n.Ctx), "delete", "--ignore-not-found", "--timeout=2m", crd), "")
	if run.Err != nil {
		n.T.Fatal(run.Stderr)
	}
}

// Networks returns the client of the Networks in the namespace.
func (n *Namespace) Networks() modelclient.NetworkInterface {
	return n.ControlPlane.ModelClient.ModelV1().Networks(n.Name)
}

// NetworkAttachments returns the client of the NetworkAttachmentDefinitions in the namespace.
func (n *Namespace) NetworkAttachments() dynamic.ResourceInterface {
	return n.ControlPlane.DynamicClient.Resource(networkattachment.Resource).Namespace(n.Name)
}
