package provision
