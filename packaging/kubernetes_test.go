package packaging

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

// kinds are what the manifests may hold, as Kubernetes' own types: a misspelt key is an error.
var kinds = map[string]func() any{
	"v1 PersistentVolumeClaim": func() any { return new(core.PersistentVolumeClaim) },
	"v1 Pod":                   func() any { return new(core.Pod) },
	"batch/v1 Job":             func() any { return new(batch.Job) },
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for n := 1; ; n++ {
			doc, err := docs.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
			check(t, name, doc)
		}
	}
}

func check(t *testing.T, name string, doc []byte) {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := strict.Unmarshal(doc, &head); err != nil {
		t.Fatal(name, err)
	}
	make, ok := kinds[head.APIVersion+" "+head.Kind]
	if !ok {
		t.Fatalf("%s: %s %s is none of the kinds that are looked at", name, head.APIVersion, head.Kind)
	}
	object := make()
	if err := strict.UnmarshalStrict(doc, object); err != nil {
		t.Errorf("%s, %s: %v", name, head.Kind, err)
	}
	var pod core.PodSpec
	switch o := object.(type) {
	case *batch.Job:
		pod = o.Spec.Template.Spec
	case *core.Pod:
		pod = o.Spec
	default:
		return
	}
	// What linters of manifests ask for: no token, a limit of memory, no writable root, a tag.
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Errorf("%s: the pod has a token that it does not need", name)
	}
	for _, c := range pod.Containers {
		if c.SecurityContext == nil || c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s: the root of %s is writable", name, c.Name)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: %s has no limit of memory, or asks for no CPU", name, c.Name)
		}
		if _, tag, ok := bytes.Cut([]byte(c.Image), []byte(":")); !ok || string(tag) == "latest" {
			t.Errorf("%s: the image %s has no version", name, c.Image)
		}
		mounted := map[string]bool{}
		for _, v := range pod.Volumes {
			mounted[v.Name] = true
		}
		for _, m := range c.VolumeMounts {
			if !mounted[m.Name] {
				t.Errorf("%s: %s mounts %s, which is no volume", name, c.Name, m.Name)
			}
		}
	}
}
