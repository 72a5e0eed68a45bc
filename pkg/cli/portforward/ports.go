// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// getBox returns the box of the namespace of the command line that an argument names.
func getBox(ctx context.Context, f cmdutil.Factory, argument string) (*modelv1.ModelBox, error) {
	name, err := cliutil.BoxName(argument)
	if err != nil {
		return nil, err
	}
	client, err := cliutil.NewClient(f)
	if err != nil {
		return nil, err
	}
	namespace, _, err := f.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	return client.ModelV1().ModelBoxes(namespace).Get(ctx, name, metav1.GetOptions{})
}

// podPorts returns the arguments for ports, [LOCAL:]REMOTE, with the target ports of the ports of the box. It does not change a
// port that the box does not have, because the pods can have it. Without arguments, it returns all ports of the box that can be
// forwarded, with the same local ports.
func podPorts(box *modelv1.ModelBox, arguments []string) ([]string, error) {
	if len(arguments) == 0 {
		for i := range box.Spec.Ports {
			if port := &box.Spec.Ports[i]; isTCP(port) {
				arguments = append(arguments, strconv.Itoa(int(port.Port)))
			}
		}
		if len(arguments) == 0 {
			return nil, fmt.Errorf("box %s has no TCP ports: specify ports of its pods", box.Name)
		}
	}
	var ports []string
	for _, argument := range arguments {
		local, remote, both := strings.Cut(argument, ":")
		if !both {
			remote = local
		}
		port := portOf(box, remote)
		if port == nil {
			ports = append(ports, argument)
			continue
		}
		if !isTCP(port) {
			return nil, fmt.Errorf("cannot forward port %s of box %s: its protocol is %s", remote, box.Name, port.Protocol)
		}
		if !both {
			local = strconv.Itoa(int(port.Port))
		}
		ports = append(ports, local+":"+targetPort(port))
	}
	return ports, nil
}

// portOf returns the port of the box of that number or name, nil where there is none.
func portOf(box *modelv1.ModelBox, numberOrName string) *corev1.ServicePort {
	var other *corev1.ServicePort
	for i := range box.Spec.Ports {
		port := &box.Spec.Ports[i]
		if port.Name != numberOrName && strconv.Itoa(int(port.Port)) != numberOrName {
			continue
		}
		if isTCP(port) {
			return port
		}
		other = port
	}
	return other
}

func isTCP(port *corev1.ServicePort) bool {
	return port.Protocol == "" || port.Protocol == corev1.ProtocolTCP
}

func targetPort(port *corev1.ServicePort) string {
	if port.TargetPort == (intstr.IntOrString{}) {
		return strconv.Itoa(int(port.Port))
	}
	return port.TargetPort.String()
}

// completePorts completes the ports of the box in the first argument.
func completePorts(f cmdutil.Factory) cliutil.CompleteFunc {
	names := cliutil.CompleteName(f)
	return func(cmd *cobra.Command, arguments []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(arguments) == 0 {
			return names(cmd, arguments, toComplete)
		}
		box, err := getBox(cmd.Context(), f, arguments[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ports []string
		for i := range box.Spec.Ports {
			if port := &box.Spec.Ports[i]; isTCP(port) && strings.HasPrefix(strconv.Itoa(int(port.Port)), toComplete) {
				ports = append(ports, strconv.Itoa(int(port.Port)))
			}
		}
		return ports, cobra.ShellCompDirectiveNoFileComp
	}
}
