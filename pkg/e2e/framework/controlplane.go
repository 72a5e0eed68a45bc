// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// ControlPlane is a running cluster that serves boxes, with clients of its administrator.
type ControlPlane struct {
	// Dir is the directory of localcluster.
	Dir string
	// Config is the configuration of clients of the administrator.
	Config        *rest.Config
	KubeClient    kubernetes.Interface
	ModelClient   versioned.Interface
	DynamicClient dynamic.Interface

	// isTemporary says that the control plane is stopped after its tests, so that they need not delete their namespaces.
	isTemporary bool
	// test is the test that has started the control plane and stops it, nil for one of several tests.
	test *testing.T
}

// Connect returns the running control plane of a directory.
func Connect(dir string) (*ControlPlane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", dir, err)
	}
	p := &ControlPlane{Dir: dir}
	if p.Config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig()); err != nil {
		return nil, fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	p.Config.QPS = -1 // the server sets the limits
	p.Config.WarningHandler = rest.NoWarnings{}
	if p.KubeClient, err = kubernetes.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the cluster's client: %w", err)
	}
	if p.ModelClient, err = versioned.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the client for boxes: %w", err)
	}
	if p.DynamicClient, err = dynamic.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the client for all kinds: %w", err)
	}
	return p, nil
}

// Kubeconfig returns the path of the kubeconfig of the administrator.
func (p *ControlPlane) Kubeconfig() string { return filepath.Join(p.Dir, "kubeconfig") }

// pidFile returns the path of the file with the process ID of a component. The supervisor writes it at each start.
func (p *ControlPlane) pidFile(process string) string {
	return filepath.Join(p.Dir, "run", process+".pid")
}

// ClusterAuditLog returns the path of the audit log with the requests of the server to the cluster.
func (p *ControlPlane) ClusterAuditLog() string { return filepath.Join(p.Dir, "logs", "audit.log") }

// ServerAuditLog returns the path of the audit log of writes to the server.
func (p *ControlPlane) ServerAuditLog() string {
	return filepath.Join(p.Dir, "logs", "modelbox-audit.log")
}
