// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"strings"

	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// subresources are the subresources of boxes.
var subresources = []string{"status", "scale", "render", "diff", "restart", "retry", "promote", "abort", "history", "rollback", "log", "exec", "attach", "portforward", "debug"}

// SubresourceUsers returns clients of boxes of two users: a user with only these verbs on the subresource, and a user with all
// verbs on boxes and on their other subresources.
func (n *Namespace) SubresourceUsers(subresource, verbs string) (only, allElse modelclient.ModelBoxInterface) {
	n.T.Helper()
	const boxes = "modelboxes.model.github.com"
	others := []string{boxes}
	for _, other := range subresources {
		if other != subresource {
			others = append(others, boxes+"/"+other)
		}
	}
	onlyUser, elseUser := "only-"+subresource, "all-but-"+subresource
	n.Kubectl.Run("create", "role", onlyUser, "--verb="+verbs, "--resource="+boxes+"/"+subresource)
	n.Kubectl.Run("create", "rolebinding", onlyUser, "--role="+onlyUser, "--user="+onlyUser)
	n.Kubectl.Run("create", "role", elseUser, "--verb=*", "--resource="+strings.Join(others, ","))
	n.Kubectl.Run("create", "rolebinding", elseUser, "--role="+elseUser, "--user="+elseUser)
	for verb := range strings.SplitSeq(verbs, ",") {
		n.Kubectl.AwaitAllowed(onlyUser, verb+" "+boxes+" --subresource="+subresource)
	}
	n.Kubectl.AwaitAllowed(elseUser, "delete "+boxes)
	return n.BoxesAs(onlyUser), n.BoxesAs(elseUser)
}

// BoxesAs returns the client of the boxes in the namespace as a user.
func (n *Namespace) BoxesAs(user string) modelclient.ModelBoxInterface {
	n.T.Helper()
	config := rest.CopyConfig(n.ControlPlane.Config)
	config.Impersonate.UserName = user
	boxes, err := versioned.NewForConfig(config)
	if err != nil {
		n.T.Fatal(err)
	}
	return boxes.ModelV1().ModelBoxes(n.Name)
}
